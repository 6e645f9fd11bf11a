#!/usr/bin/env python3
"""run.py [-k WORD] [FILE ...]: runs the functions test_* of tests/screen/test_*.py with the programs in $WEIR_BUILD
(default build), in the manner of tests/e2e/run.py, whose hands they use. WEIR_ACCEPT=1 records golden screens anew,
WEIR_WATCH=SECONDS shows each screen to a person for that long."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# In front of this folder: its run.py is the runner.
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import run

sys.exit(run.main(HERE))
