"""For test_notebook.py: runs cells in a kernel and prints their outputs."""
import json
import sys

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

job = json.load(open(sys.argv[1], encoding="utf-8"))


class Manager(AsyncKernelManager):
    @property
    def kernel_spec(self):
        return KernelSpec(argv=[job["python"], "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                          display_name="test", language="python")


notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in job["cells"]])
client = NotebookClient(notebook, timeout=None, allow_errors=True, km=Manager())
client.execute()
json.dump([cell["outputs"] for cell in notebook.cells], sys.stdout)
