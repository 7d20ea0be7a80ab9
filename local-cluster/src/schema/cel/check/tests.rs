use serde_json::{Value, json};

use crate::schema::cel::RuleTree;
use crate::schema::node::Node;
use crate::tests::rows;

fn compiled(rule: &str) -> Result<(), String> {
    let schema = json!({"type": "object",
        "properties": {
            "n": {"type": "integer"}, "f": {"type": "number"}, "s": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "either": {"x-kubernetes-int-or-string": true},
            "when": {"type": "string", "format": "date-time"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "namespace": {"type": "string"}, "a-b": {"type": "string"},
        },
        "x-kubernetes-validations": [{"rule": rule}],
    });
    let node = Node::read(&schema);
    let tree = RuleTree::read(&schema, &node).unwrap();
    let rule = &tree.rules[0];
    match rule.program.as_ref().unwrap() {
        Ok(_) => Ok(()),
        Err(why) => Err(why.clone()),
    }
}

#[test]
fn good_rules_compile() {
    for rule in [
        "self.n > 0 && self.s.startsWith('a')",
        "has(self.list) && self.list.all(i, i.x > 0 && has(i.x))",
        "self.list.exists_one(i, i.x == 1) || self.list.filter(i, i.x > 1).size() > 2",
        "self.list.map(i, i.x).isSorted()",
        "self.labels.all(k, k.size() < 3 && self.labels[k] != 'x')",
        "'a' in self.labels && self.labels.a == 'b'",
        "type(self.either) == int ? self.either > 1 : self.either.matches('%$')",
        "self.f > 1 && self.n < 1.5",
        "self.when < timestamp('2030-01-01T00:00:00Z') + duration('1h')",
        "self.metadata.name.size() < 10 && self.kind == 'K'",
        "self.__namespace__ == self.a__dash__b",
        "self.?s.orValue('x') == 'x' && !self.?n.hasValue()",
        "cel.bind(x, self.n, x == 1)",
        "self.free == oldSelf.free",
        "quantity('1Gi').isGreaterThan(quantity('1Mi')) && sets.contains([1], [1])",
        "[has(self.n), has(self.s)].filter(b, b).size() <= 1",
        "self.s in ['a', 'b'] && self.n in [1, 2]",
        "self.s == '' || isURL(self.s) && url(self.s).getScheme() == 'https'",
        "dyn(self.n) == 1.0",
    ] {
        assert_eq!(compiled(rule), Ok(()), "{rule}");
    }
}

#[test]
fn bad_rules_do_not() {
    let table = r#"
        self.list.all(i, i.y > 0) | undefined field 'y'
        has(self.free.x) | undefined field 'x'
        self.metadata.labels.size() > 0 | undefined field 'labels'
        self.s.x == 1 | type 'string' does not support field selection
        other == 1 | ERROR: <input>:1:1: undeclared reference to 'other' (in container '')
        self.n == 'a' | ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'
        self.f == 1 | found no matching overload for '_==_' applied to '(double, int)'
        self.s == null | found no matching overload for '_==_' applied to '(string, null)'
        self.n && true | found no matching overload for '_&&_' applied to '(int, bool)'
        !self.n | found no matching overload for '!_' applied to '(int)'
        self.s > 1 | found no matching overload for '_>_' applied to '(string, int)'
        self.n in ['a'] | found no matching overload for '@in' applied to '(int, list(string))'
        self.s + 1 == '' | found no matching overload for '_+_' applied to '(string, int)'
        self.n.all(x, true) | expression of type 'int' cannot be range of a comprehension
        self.n | cel expression must evaluate to a bool
        size(self.s) | cel expression must evaluate to a bool
        1 + | compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'
        Foo{a: 1} == Foo{a: 1} | undeclared reference to 'Foo'
    "#;
    let field =
        "compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^";
    let function = "ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')\n |   nope(1)\n | ..^";
    let with_lines = [
        ["self.nope", field],
        ["self.n == 1 &&\n  nope(1)", function],
    ];
    for [rule, why] in rows(table).into_iter().chain(with_lines) {
        let error = compiled(rule).unwrap_err();
        assert!(error.contains(why), "{rule}: {error}");
    }
}

#[test]
fn huge_rules_are_refused_in_time() {
    let rules: [String; 7] = [
        format!("{}true{}", "(".repeat(3000), ")".repeat(3000)),
        format!("{}true{}", "(".repeat(400), ")".repeat(400)),
        format!("self{}", ".a".repeat(990)),
        format!("{}1 == 1", "1 + ".repeat(900)),
        format!("{}1{} == 1", "[".repeat(480), "]".repeat(480)),
        format!("{}true", "!".repeat(20_000)),
        "'".repeat(999),
    ];
    for rule in rules {
        assert!(compiled(&rule).is_err(), "{}", &rule[..20]);
    }
    let long = format!("self.s == 'x'{}", " || self.s == 'y'".repeat(150));
    assert_eq!(compiled(&long), Ok(()));
}

#[test]
fn a_message_expression_makes_a_string() {
    let schema = |expression: &str| -> Value {
        json!({"type": "object", "properties": {"n": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "true", "messageExpression": expression}]})
    };
    let compiled = |expression: &str| {
        let schema = schema(expression);
        let node = Node::read(&schema);
        let tree = RuleTree::read(&schema, &node).unwrap();
        let program = tree.rules[0].message_program.as_ref().unwrap();
        program.as_ref().map(|_| ()).map_err(String::clone)
    };
    assert_eq!(compiled("'n is ' + string(self.n)"), Ok(()));
    assert_eq!(
        compiled("self.n").unwrap_err(),
        "messageExpression must evaluate to a string"
    );
    assert!(
        compiled("self.x")
            .unwrap_err()
            .starts_with("messageExpression compilation failed: ERROR")
    );
}
