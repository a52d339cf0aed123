"""From graphs and plans to programs: labels become axes, contractions become array calls."""
