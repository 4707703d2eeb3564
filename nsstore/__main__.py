"""``python -m nsstore`` is the program ``nsstore``."""

from nsstore.cli.main import main

if __name__ == "__main__":
    main()
