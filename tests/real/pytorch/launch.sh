#!/bin/bash

# Retrieve the directory containing this script and sample.py
BASEFOLDER=$( cd -- "$( dirname -- "${BASH_SOURCE[0]}" )" &> /dev/null && pwd )

# Activate your Python environment here (e.g., conda, venv)
# Example: source /path/to/your/venv/bin/activate

cd ${BASEFOLDER}
python sample.py
