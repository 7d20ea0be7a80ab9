use super::*;

#[test]
fn processes_are_read_from_the_masters_table() {
    let response = "#<PID>          <type>          <reloads>       <uptime>        <version>      \n\
        70           master          3 [failed: 1]   0d00h00m05s     2.6.12\n# workers\n\
        75           worker          0               0d00h00m01s     2.6.12\n# old workers\n\
        71           worker          2               0d00h00m05s     2.6.12\n\
        73           worker          1               0d00h00m05s     2.6.12\n# programs\n";
    let expected = Processes {
        reloads: 3,
        worker: Some(75),
        old_workers: vec![71, 73],
    };
    assert_eq!(read_processes(response), expected);
    assert_eq!(
        read_processes("garbage\n# workers\nx y z\n"),
        Processes::default()
    );
}
