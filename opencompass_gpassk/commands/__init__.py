"""The commands of ``gpassk``: one module each, with ``add_parser`` and ``run``."""
