#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image: a Python of its own with the versions of
# constraints.txt, PyTorch, and this course's package from the zip file.
#
# torch_index: the usual PyTorch brings gigabytes for GPUs along. For the small one put here the address of PyTorch's
# index for CPUs, which its page on installing names.
# Give the autograder at least 2 GB of memory in Gradescope's settings.
set -euo pipefail
home=${AUTOGRADER_HOME:-/autograder}
source=$home/source
torch_index=${TORCH_INDEX:-}

suits() { "$1" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; }

find_python() {
  for python in python3 python3.13 python3.12 python3.11; do
    if suits "$python"; then return; fi
  done
  return 1
}

if ! find_python; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update
  if ! apt-get install -y python3.12 python3.12-venv; then
    apt-get install -y software-properties-common
    add-apt-repository -y ppa:deadsnakes/ppa
    apt-get update
    apt-get install -y python3.12 python3.12-venv
  fi
  find_python
fi

"$python" -m venv "$home/venv"
pip=("$home/venv/bin/python" -m pip --no-cache-dir --disable-pip-version-check)
"${pip[@]}" install --constraint "$source/constraints.txt" ${torch_index:+--index-url "$torch_index"} torch
"${pip[@]}" install --constraint "$source/constraints.txt" "$source/package[grading]"
chmod -R go-rwx "$source/lesson"
