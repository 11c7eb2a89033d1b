import { serveReportJobs } from '../report-jobs/run-report-job.ts';
import { petstoreApi } from './petstore-api.ts';

serveReportJobs(petstoreApi);
