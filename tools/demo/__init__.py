"""How the demonstration model and its step classifier are made, and measured."""
