"""One thread for numbers: on busy machines several wait for each other far longer than these small tensors take."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported, here and in every kernel that tests start
