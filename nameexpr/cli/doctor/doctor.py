"""`nameexpr doctor`: what this installation is made of, and what is wrong with it. Nothing is written.

`doctor_facts` gathers what is so, with `doctor_blas`, `doctor_machine` and `doctor_trials`; `doctor_findings`
judges it, and `doctor_text` says it. None of them needs NumPy to be there: that it is not is worth reporting.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from nameexpr.cli.doctor.facts import Facts, gather
from nameexpr.cli.doctor.findings import Finding, find
from nameexpr.cli.doctor.text import coloured, rendered
from nameexpr.terminal import screen


def run(options: Namespace) -> int:
    """Say how things are and return the exit code: 1 if there is a problem, 0 with warnings or without."""
    facts = gather(os.environ)
    findings = find(facts)
    status = int(any(finding.level == "problem" for finding in findings))
    if options.json:
        screen.say(json.dumps(as_data(facts, findings, status), allow_nan=False))
        return status
    text = rendered(facts, findings)
    screen.say(coloured(text) if screen.is_colour_wanted(options.color, sys.stdout) else text)
    return status


def as_data(facts: Facts, findings: Sequence[Finding], status: int) -> dict[str, Any]:
    """Return facts and findings as one object for JSON."""
    data = asdict(facts)
    packages = {package.pop("name"): package for package in data.pop("packages")}
    checks = data.pop("checks")
    return {
        **data,
        "python": facts.python.version,
        "packages": packages,
        "self_check": {
            "is_right": bool(checks) and all(one["fault"] is None for one in checks),
            "checks": checks,
        },
        "findings": [asdict(finding) for finding in findings],
        "status": status,
    }
