import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Job } from "../../domain/jobs/Job.ts"
import { FreeText, StorableObject } from "../../domain/text/Storable.ts"
import { JobsGroup } from "../jobs/JobsApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { conflict, invalid, notFound } from "./RpcErrors.ts"
import { pageFields, pageOfRecords } from "./RpcLists.ts"
import { changeBy, likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(JobsGroup)

/** Background jobs: what the routes under `/api/admin/jobs` have, and the enqueue that no route has. */
export const JobsRpc = RpcGroup.make(
  Rpc.make("enqueue", {
    // A job of the caller's own organization. An unknown task is accepted, and fails when it is run (spec §4 Jobs).
    payload: {
      task: FreeText,
      input: StorableObject,
      queue: Schema.optional(FreeText),
      delayMs: Schema.optional(Schema.Int),
      maxAttempts: Schema.optional(Schema.Int),
      concurrencyKey: Schema.optional(FreeText)
    },
    success: Schema.Struct({ id: Uuid }),
    error: invalid
  }).annotateMerge(changeBy(anyOf("jobs:admin"))),
  Rpc.make("failed", { payload: pageFields, success: pageOfRecords(Job) }).annotateMerge(like("failed")),
  Rpc.make("stream", { success: Job, stream: true }).annotateMerge(like("failed")),
  Rpc.make("retry", { payload: { id: Uuid }, success: Job, error: Schema.Union([notFound, conflict]) })
    .annotateMerge(like("retry"))
).prefix("jobs.").middleware(RpcAccess)
