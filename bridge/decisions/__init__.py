"""Pure decisions: challenges, pool, next step, time budget, chat."""
