/// A long read is passed over by shorter ones until it is late, and for the request that is in the drive then.
fn shortest() {
    let long = wait_ms("shortest", &["nr_requests=2000"], &stream(20, 300, read, "R8+64"), "R8+64");
    assert_within(long, 100.0, 101.0);
}
