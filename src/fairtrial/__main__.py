"""`python -m fairtrial`."""

import sys

from fairtrial.cli.main import main

sys.exit(main())
