use super::*;

const STAT: &str = "# pxname,svname,scur,status,weight,lastchg,type\n\
    lb-192.0.2.1-80,FRONTEND,4,OPEN,,,0\nlb-192.0.2.1-80,rev-1,4,OPEN,,,3\n\
    lb-192.0.2.1-80,10.0.0.7-80,4,DRAIN,0,2,2\nlb-192.0.2.1-80,BACKEND,4,UP,1,2,1\n";
const STATE: &str = "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight \
    srv_iweight srv_time_since_last_change srv_port\n\
    3 lb-192.0.2.1-80 1 10.0.0.7-80 10.0.0.7 2 8 50 50 4 80\n\
    3 lb-192.0.2.1-80 2 2001:db8::1-80 2001:db8::1 2 1 7 7 4 80\n\
    3 lb-192.0.2.1-80 3 by-hand-x 10.0.0.9 2 0 7 7 4 80\n";

#[test]
fn servers_are_read_from_both_tables() {
    let found = read_running(STAT, STATE);
    let found = &found["lb-192.0.2.1-80"];
    assert_eq!(found.revision, "rev-1");
    let servers: Vec<_> = found
        .servers
        .values()
        .map(|it| (it.admin, it.weight, it.sessions))
        .collect();
    assert_eq!(servers, [(Admin::Drain, 50, 4), (Admin::Maintenance, 7, 0)]);
    assert_eq!(
        found.servers[&([10, 0, 0, 7], 80).into()].changed_seconds_ago,
        4
    );
}

#[test]
fn other_responses_are_no_load_balancers() {
    for response in [
        "",
        "No such proxy.",
        "Can't find backend.",
        "#",
        "# a,b\n\n,,,",
        "\u{0}",
    ] {
        assert!(read_running(response, response).is_empty(), "{response:?}");
    }
}
