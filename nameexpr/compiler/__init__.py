"""From syntax trees to programs: analysis, planning, lowering and scheduling. `nameexpr.compiler.pipeline`
lists the stages in order.
"""
