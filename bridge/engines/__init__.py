"""What chooses a move: any UCI or XBoard program, a Python plugin, a lot, and a small one built in."""
