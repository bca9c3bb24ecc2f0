"""Lists as tables, and drawings. The figures are compared with those of the objects themselves."""

import datetime
import os
import unittest

import epsilond

import kit

os.environ["MPLBACKEND"] = "Agg"


class Scene(unittest.TestCase):
    dataset = None

    @classmethod
    def setUpClass(cls):
        if Scene.dataset is not None:
            return
        Scene.client = client = kit.client()
        Scene.dataset = kit.register_digits(client, "of-lists", 1100, epsilon=8, delta=1e-5, holdout=0.25)
        Scene.jobs = [client.train("of-lists", epsilon=epsilon, epochs=3, evaluation=epsilond.holdout(1),
                                   display_name=f"at {epsilon}", tags={"team": "lists", "a": "b"})
                      for epsilon in (0.5, 2)]
        Scene.public = client.train("of-lists", epsilon=1, epochs=10, evaluation="digits-test")
        for job in (*Scene.jobs, Scene.public):
            job.wait(progress=False)


class Tables(Scene):
    def rows(self):
        return {row["id"]: row for row in self.client.jobs.to_dicts(dataset="of-lists")}

    def test_a_row_has_the_figures_of_its_job(self):
        rows = self.rows()
        self.assertEqual(set(rows), {job.id for job in (*self.jobs, self.public)})
        self.assertEqual(len({tuple(row) for row in rows.values()}), 1)
        job, row = self.jobs[1], rows[self.jobs[1].id]
        self.assertEqual((row["name"], row["tags"], row["state"], row["evaluation"], row["model"]),
                         ("at 2", "a:b, team:lists", "SUCCEEDED", "the holdout", job.data["model"]))
        self.assertEqual((row["accuracy"], row["accuracy_low"], row["accuracy_high"]),
                         tuple(job.quality["accuracy"][name] for name in ("value", "low", "high")))
        self.assertEqual((row["epsilon"], row["epsilon_spent"]),
                         (job.data["privacy"]["epsilon_planned"], job.epsilon_spent))
        self.assertEqual(row["created"].tzinfo, datetime.timezone.utc)
        row = rows[self.public.id]
        self.assertEqual(row["accuracy"], self.public.data["metrics"]["evaluation"]["accuracy"])
        self.assertIsNone(row["accuracy_low"])

    def test_lists_are_filtered_like_where(self):
        found = self.client.jobs.to_dicts(tag="team:lists", order_by="epsilon", order="asc")
        self.assertEqual([row["id"] for row in found], [job.id for job in self.jobs])
        with self.assertRaisesRegex(TypeError, "^leave out owner"):
            self.client.jobs.to_dicts(owner="ana")
        with self.assertRaisesRegex(TypeError, "^leave out tag"):
            self.client.models.to_dicts(tag="team:lists")

    def test_models_and_datasets_have_rows_too(self):
        models = {row["job"]: row for row in self.client.models.to_dicts()}
        self.assertEqual(models[self.public.id]["id"], self.public.data["model"])
        self.assertEqual(models[self.public.id]["epsilon"],
                         self.public.model.certificate["guarantee"]["epsilon"])
        datasets = {row["id"]: row for row in self.client.datasets.to_dicts()}
        self.assertEqual((datasets["of-lists"]["epsilon"], datasets["of-lists"]["public"]), (8, False))
        self.assertEqual((datasets["digits-test"]["epsilon"], datasets["digits-test"]["records"]), (None, 359))

    @kit.lacks("pandas", "polars", "pyarrow")
    def test_the_tables_of_each_package_have_these_rows(self):
        rows = self.rows()
        asked = {"dataset": "of-lists"}
        pandas, polars, arrow = (getattr(self.client.jobs, name)(**asked)
                                 for name in ("to_pandas", "to_polars", "to_arrow"))
        names = list(next(iter(rows.values())))
        self.assertEqual((list(pandas.columns), polars.columns, arrow.column_names), (names, names, names))
        self.assertEqual(dict(zip(pandas["id"], pandas["accuracy"])), {id: row["accuracy"] for id, row in rows.items()})
        self.assertEqual({row["id"]: row for row in polars.to_dicts()}, rows)
        self.assertEqual({row["id"]: row for row in arrow.to_pylist()}, rows)
        self.assertEqual(str(pandas["created"].dtype).split("[")[0], "datetime64")
        for found in (self.client.models.to_pandas(), self.client.datasets.to_pandas()):
            self.assertGreater(len(found), 1)


@kit.lacks("matplotlib")
class Drawings(Scene):
    def test_the_budget_is_drawn_after_each_entry(self):
        ax = self.dataset.plot()
        history = self.client._transport.get("/v1/datasets/of-lists/budget/history")["points"]
        line = ax.lines[0]
        self.assertEqual(list(line.get_ydata()), [point["share"]["spent"] for point in history])
        self.assertEqual(line.get_ydata()[0], 0)
        self.assertAlmostEqual(line.get_ydata()[-1], self.dataset.budget.share_spent)
        self.assertIn("of-lists: epsilon 8 at delta 1e-05", ax.get_title())
        with self.assertRaisesRegex(epsilond.Unsupported, "^draw the budget of a private dataset"):
            self.client.datasets["digits-test"].plot()

    def test_accuracy_is_drawn_against_epsilon_with_its_interval(self):
        ax = self.client.jobs.plot(tag="team:lists")
        points, _, bars = ax.containers[0]
        planned = [job.data["privacy"]["epsilon_planned"] for job in self.jobs]
        self.assertEqual(list(points.get_xdata()), planned)
        self.assertEqual(list(points.get_ydata()), [job.quality["accuracy"]["value"] for job in self.jobs])
        for job, ends in zip(self.jobs, bars[0].get_segments()):
            self.assertAlmostEqual(ends[0][1], job.quality["accuracy"]["low"])
            self.assertAlmostEqual(ends[1][1], job.quality["accuracy"]["high"])
        with self.assertRaisesRegex(epsilond.Unsupported, "^train jobs with an evaluation first"):
            self.client.jobs.plot("rmse", dataset="of-lists")

    def test_practice_on_public_data_is_drawn_at_the_epsilon_that_was_asked_for(self):
        public = self.client.train("digits-test", epsilon=0.75, epochs=2, evaluation="digits-test")
        public.wait(progress=False)
        points, _, _ = self.client.jobs.plot(at={0.75: [public]}).containers[0]
        self.assertEqual(list(points.get_xdata()), [0.75])
        self.assertEqual(list(points.get_ydata()), [public.data["metrics"]["evaluation"]["accuracy"]])

    def test_a_run_is_drawn_step_by_step(self):
        from matplotlib import pyplot

        mine = pyplot.subplots()[1]
        ax = next(self.client.jobs.where(dataset="of-lists", order="desc")).plot(mine)
        self.assertIs(ax, mine)
        history = self.public.refresh().data["metrics"]["history"]
        self.assertEqual(list(ax.lines[0].get_xdata()), [point["step"] for point in history])
        self.assertEqual(list(ax.lines[0].get_ydata()), [point["accuracy"] for point in history])
        with self.assertRaisesRegex(epsilond.Unsupported, "^train with evaluation=a public dataset"):
            self.jobs[0].plot()

    def test_a_name_is_no_formula(self):
        from epsilond._plots import draw_run

        job = {"id": "$\\frac$", "dataset": "a$b", "evaluation": "\x1b$", "metrics": {
            "history": [{"step": 1, "rmse": 2.0, "loss": 3.0}]}}
        ax = draw_run(job)
        ax.figure.canvas.draw()
        self.assertEqual(ax.get_title(), "\\$\\frac\\$ on a\\$b")


if __name__ == "__main__":
    unittest.main()
