"""The command at the bottom of the viewer's page, in a headless Chromium: it runs in a shell as it is, and
prints what the tab shows; a tab that no command prints has none. Skipped without the page, node, Chromium
or playwright-core."""
# ci: labels slow browser
import os
import subprocess

from common import PATIENCE, UNITRACE, main, need, program
from view_support import ViewCase, unitrace

need("burn")
SQL = "select 'it''s' as text,\n    count(*) as n\nfrom slice"


class Footer(ViewCase):
    script = "view_footer.js"

    def shell(self, command):
        env = {**os.environ, "PATH": f"{UNITRACE.parent}:{os.environ['PATH']}"}
        run = subprocess.run(["bash", "-c", command], cwd=self.dir, env=env, capture_output=True, text=True, timeout=PATIENCE,
                             stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(run.returncode, 0, (command, run.stderr))
        return run.stdout

    def test_every_command_that_is_shown_runs(self):
        for name in "a b.utr", "c'd.utr":
            unitrace("hotspots", "--quiet", "-o", name, program("burn"), "shares", "200", "task", "pack", "100", cwd=self.dir)
        self.words = [SQL]
        seen = self.serve_and_look(["c'd.utr", "--compare", "a b.utr"])
        self.assertEqual(seen["console"], [])
        tabs = seen["tabs"]
        self.assertRegex(tabs["Summary"], r"^unitrace stats --clip --from 0ns --to \d+ns ")
        self.assertEqual(tabs["Timeline"], tabs["Summary"])
        self.assertEqual((tabs["Log"], tabs["SQL"]), ("", ""))
        self.assertIn("pack", self.shell(tabs["Summary"]))
        self.assertIn("burn_half", self.shell(tabs["Hotspots"]))
        self.assertRegex(seen["difference"], "^unitrace hotspots --diff 'a b.utr' ")
        self.assertEqual(self.shell(seen["difference"]),
                         unitrace("hotspots", "--diff", "a b.utr", "c'd.utr", cwd=self.dir))
        self.assertEqual(self.shell(seen["sql"]), unitrace("query", "c'd.utr", SQL, cwd=self.dir))


if __name__ == "__main__":
    main()
