"""The tests of the peers' suites that do not pass, and why."""

EXPECTED = {
    "test_sharing_value[numpy-abc,bcd,dea]": "compares sums that are added in two orders bit by bit",
}
