use super::*;
use crate::faults::FaultRule;

#[test]
fn each_switch_is_on_while_its_rule_is_in_force() {
    let cloud = Cloud::empty();
    for (title, rule) in RULES {
        let rule: FaultRule = serde_json::from_str(rule).expect(title);
        let written = serde_json::to_value(&rule).expect(title);
        let on = |cloud: &Cloud| {
            let page = show(cloud).into_string();
            let before = page.split(title).next().expect("something is before it");
            let button = before.rsplit("<button").next().expect("its button");
            button.contains("aria-checked=\"true\"")
        };
        assert!(!on(&cloud), "{title}");
        let id = cloud.faults().add(rule).expect(title);
        assert!(on(&cloud), "{title}: {written}");
        assert!(cloud.faults().remove(id));
    }
}
