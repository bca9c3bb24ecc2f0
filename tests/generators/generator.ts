// The main job with the TypeScript client that openapi-generator generates (main_job.py).
import {openAsBlob} from 'node:fs';
import {randomUUID} from 'node:crypto';
import {
  Configuration, DatasetsApi, JobsApi, ModelsApi, ResponseError, type Dataset, type JobRequest,
} from './client';

function declare(datasets: DatasetsApi): Promise<Dataset> {
  return datasets.datasetCreate({
    idempotencyKey: randomUUID(),
    datasetRequest: {
      id: 'people',
      format: 'csv',
      task: 'classification',
      columns: [
        {name: 'age', kind: 'numeric', range: [0, 120]},
        {name: 'town', kind: 'categorical', values: ['Bonn', 'Kiel', 'Ulm']},
        {name: 'buys', kind: 'label', values: ['no', 'yes']},
      ],
      privacy: {epsilon: 2, delta: 1e-5},
    },
  });
}

async function refusal(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
    return 'nothing';
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    return (await error.response.json()).code;
  }
}

async function main(basePath: string, path: string): Promise<void> {
  const configuration = new Configuration({basePath});
  const datasets = new DatasetsApi(configuration);
  const jobs = new JobsApi(configuration);
  const models = new ModelsApi(configuration);
  const id = 'people';
  if ((await declare(datasets)).state !== 'CREATED') throw new Error('it is not declared');
  await datasets.datasetFilePut({id, name: 'data', body: await openAsBlob(path)});
  await datasets.datasetImport({id});
  const ready = await datasets.datasetGet({id});
  if (ready.state !== 'READY' || ready.records !== 600) throw new Error('it is not imported');
  const jobRequest: JobRequest = {
    dataset: id,
    model: {preset: 'linear'},
    algorithm: {name: 'dpsgd', clipNorm: 1},
    optimizer: {name: 'sgd', learningRate: 0.5},
    privacy: {epsilon: 1},
  };
  let job = await jobs.jobCreate({idempotencyKey: randomUUID(), jobRequest});
  while (job.endTime === null) job = await jobs.jobGet({id: job.id, wait: 30});
  const content = await models.modelContent({id: job.model ?? ''});
  const budget = await datasets.datasetBudget({id});
  console.log(JSON.stringify({
    state: job.state,
    spent: budget.epsilonSpent,
    size: content.size,
    refused: await refusal(declare(datasets)),
  }));
}

void main(process.argv[2], process.argv[3]);
