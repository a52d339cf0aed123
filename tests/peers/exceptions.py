"""The tests of the peers' suites that do not pass, and why."""

EXPECTED: dict[str, str] = {}
