"""Whether an agent's next turn shows a behaviour: a rule where one decides, else a judge."""
