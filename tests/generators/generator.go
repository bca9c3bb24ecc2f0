// The main job with the Go client that openapi-generator generates (main_job.py).
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	made "made"
)

const declared = `{"id":"people","format":"csv","task":"classification",
  "columns":[{"name":"age","kind":"numeric","range":[0,120]},
             {"name":"town","kind":"categorical","values":["Bonn","Kiel","Ulm"]},
             {"name":"buys","kind":"label","values":["no","yes"]}],
  "privacy":{"epsilon":2,"delta":1e-5}}`

const wanted = `{"dataset":"people","model":{"preset":"linear"},"algorithm":{"name":"dpsgd","clip_norm":1},
  "optimizer":{"name":"sgd","learning_rate":0.5},"privacy":{"epsilon":1}}`

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// One that this program has not used.
func key() string { return fmt.Sprint(time.Now().UnixNano()) }

func declare(client *made.APIClient) (*made.Dataset, error) {
	var body made.DatasetRequest
	must(json.Unmarshal([]byte(declared), &body))
	dataset, _, err := client.DatasetsAPI.DatasetCreate(context.Background()).IdempotencyKey(key()).DatasetRequest(body).Execute()
	return dataset, err
}

func bring(client *made.APIClient, path string) {
	file, err := os.Open(path)
	must(err)
	_, err = client.DatasetsAPI.DatasetFilePut(context.Background(), "people", made.DATASETFILE_DATA).Body(file).Execute()
	must(err)
	_, _, err = client.DatasetsAPI.DatasetImport(context.Background(), "people").Body(map[string]interface{}{}).Execute()
	must(err)
	ready, _, err := client.DatasetsAPI.DatasetGet(context.Background(), "people").Execute()
	must(err)
	if ready.State != made.DATASETSTATE_READY || *ready.Records.Get() != 600 {
		log.Fatalf("it is not imported: %v", ready.State)
	}
}

func train(client *made.APIClient) *made.Job {
	var body made.JobRequest
	must(json.Unmarshal([]byte(wanted), &body))
	job, _, err := client.JobsAPI.JobCreate(context.Background()).IdempotencyKey(key()).JobRequest(body).Execute()
	for must(err); job.EndTime.Get() == nil; must(err) {
		job, _, err = client.JobsAPI.JobGet(context.Background(), job.Id).Wait(30).Execute()
	}
	return job
}

// The problem's code where the request is refused.
func refusal(err error) string {
	refused, is := err.(*made.GenericOpenAPIError)
	if !is {
		return "nothing"
	}
	var problem struct{ Code string }
	must(json.Unmarshal(refused.Body(), &problem))
	return problem.Code
}

func main() {
	configuration := made.NewConfiguration()
	configuration.Servers = made.ServerConfigurations{{URL: os.Args[1]}}
	client := made.NewAPIClient(configuration)
	dataset, err := declare(client)
	must(err)
	if dataset.State != made.DATASETSTATE_CREATED {
		log.Fatalf("it is not declared: %v", dataset.State)
	}
	bring(client, os.Args[2])
	job := train(client)
	content, _, err := client.ModelsAPI.ModelContent(context.Background(), *job.Model.Get()).Execute()
	must(err)
	file, err := content.Stat()
	must(err)
	budget, _, err := client.DatasetsAPI.DatasetBudget(context.Background(), "people").Execute()
	must(err)
	_, err = declare(client)
	must(json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"state": job.State, "spent": *budget.EpsilonSpent.Get(), "size": file.Size(), "refused": refusal(err)}))
}
