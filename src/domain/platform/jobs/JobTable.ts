import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Table } from "../records/Table.ts"
import { Time } from "../text/Time.ts"
import { Job } from "./Job.ts"

const StoredJob = Schema.Struct({
  ...Job.fields,
  exclusive: Schema.Boolean,
  blocked: Schema.Boolean,
  slot: Schema.NullOr(Schema.String),
  leaseToken: Schema.NullOr(Uuid),
  leaseUntil: Schema.NullOr(Time)
})

export const storedJobs = new Table("commerce_jobs", StoredJob, {
  unset: [
    "output",
    "status",
    "attempts",
    "error",
    "createdAt",
    "updatedAt",
    "processingStartedAt",
    "completedAt",
    "blocked",
    "slot",
    "leaseToken",
    "leaseUntil"
  ]
})
