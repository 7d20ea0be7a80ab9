use super::*;

#[test]
fn each_rule_is_one_sentence_with_the_word_of_its_level_and_an_id_of_its_own() {
    let mut ids = std::collections::BTreeSet::new();
    for group in rules::GROUPS {
        for (rule, number) in group.rules.iter().zip(1..) {
            assert_eq!(rule.id, format!("{}-{number:02}", group.prefix));
            assert!(ids.insert(rule.id), "{}", rule.id);
            let sentence = rule.sentence;
            assert!(
                sentence.ends_with('.') && !sentence.contains(". "),
                "{sentence}"
            );
            let has = |word| sentence.split([' ', ',']).any(|it| it == word);
            let is_must = rule.level == Level::Must;
            assert_eq!(
                (has("MUST"), has("SHOULD")),
                (is_must, !is_must),
                "{sentence}"
            );
        }
    }
}

#[test]
fn at_most_one_rule_in_ten_has_no_check() {
    let count = |groups: &[Group]| groups.iter().map(|group| group.rules.len()).sum::<usize>();
    let unchecked: Vec<_> = rules::GROUPS
        .iter()
        .filter(|it| it.unchecked.is_some())
        .copied()
        .collect();
    assert!(count(&unchecked) * 10 <= count(rules::GROUPS));
}
