"""The installed package: it has no dependencies, its types are up to date, and its notebooks contain no
output."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys
import unittest

import epsilond

import kit

CLIENT = kit.REPOSITORY / "clients" / "python"


class Package(unittest.TestCase):
    def test_nothing_is_needed_beside_python(self):
        told = importlib.metadata.metadata("epsilond")
        needed = [line for line in told.get_all("Requires-Dist") or [] if "extra ==" not in line]
        self.assertEqual(needed, [])
        self.assertEqual(set(told.get_all("Provides-Extra")), {"arrow", "numpy", "plot", "progress", "torch"})
        self.assertEqual(told["Version"], epsilond.__version__)

    def test_importing_it_loads_nothing_beside_python(self):
        program = ("import sys\nbefore = set(sys.modules)\nimport epsilond\n"
                   "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
                   "print(new - sys.stdlib_module_names - {'epsilond'})")
        loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(loaded.stdout, "set()\n")

    def test_it_says_that_it_is_typed(self):
        self.assertTrue(pathlib.Path(epsilond.__file__).with_name("py.typed").exists())

    @kit.lacks("yaml")
    def test_the_types_are_those_of_the_contract(self):
        made = subprocess.run([sys.executable, CLIENT / "tools" / "make_types.py", "--check"],
                              capture_output=True, text=True)
        self.assertEqual((made.returncode, made.stdout), (0, ""))

    def test_every_answer_has_the_members_of_its_type(self):
        client = kit.client()
        job = client.train("digits", epsilon=0.1, epochs=1, evaluation="digits-test").wait()
        for type_name, answer in (
                ("Dataset", client.datasets["digits"].data), ("Budget", client.datasets["digits"].budget.data),
                ("Job", job.data), ("Model", job.model.data), ("Certificate", job.model.certificate),
                ("Version", client.version())):
            with self.subTest(type_name):
                declared = getattr(epsilond.types, type_name).__annotations__
                self.assertLessEqual(set(answer), set(declared))
                always = {name for name, kind in declared.items() if "NotRequired" not in str(kind)}
                self.assertLessEqual(always, set(answer))

    def test_notebooks_are_kept_without_output(self):
        notebooks = sorted((CLIENT / "notebooks").glob("*.ipynb"))
        self.assertEqual([path.stem for path in notebooks], ["choosing-epsilon", "tutorial"])
        for path in notebooks:
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), path.name)


if __name__ == "__main__":
    unittest.main()
