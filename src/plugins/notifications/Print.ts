import { DateTime, Effect, Schema } from "effect"
import {
  about,
  apiError,
  holds,
  integer,
  json,
  longText,
  machine,
  oneOf,
  type PluginDatabase,
  resource,
  table,
  Text,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { admin, NotificationOptions, routes } from "./NotificationOptions.ts"
import { takeJob } from "./PrintRepo.ts"

/** What printers print: queued → printing → printed, or failed (contract, plugins §8). */
export const printJobs = table("notification_print_jobs", {
  type: oneOf(["receipt", "label", "sticker", "kot"]).about("Kind of paper; kot is a ticket of the kitchen."),
  printerId: text.fewValues.about("Name of the printer."),
  content: json.about("Data that the printer's format is made of."),
  format: oneOf(["esc_pos", "star_line", "label"]).nullable.about("Language of the printer."),
  status: oneOf(["queued", "printing", "printed", "failed"]).default("queued").about(
    "printing: an agent has it, until its lease ends."
  ),
  error: longText.nullable.about("Failure that the printer reported."),
  leasedUntil: timestamp.nullable.about("Until when the agent that took it has it; then another one gets it."),
  lease: integer.default(0).about("Number of the lease: an agent whose lease was given to another one is refused."),
  messageId: uuid.unique().nullable.about("Id of the message it prints.")
}, {
  changeLog: false,
  indexes: [{ columns: ["printerId", "createdAt"], where: "status in ('queued', 'printing')" }]
})

const printJob = machine(printJobs, {
  noun: "print job",
  moves: {
    printing: { from: ["queued"], to: "printing" },
    printed: { from: ["printing"], to: "printed" },
    failed: { from: ["queued", "printing"], to: "failed" }
  }
})

class LeaseLost extends apiError("LeaseLost", { status: 409, code: "CONFLICT" }, "Another agent has this job.") {}

/** Agents of printers need no more than this. */
const agent = {
  admits: {
    rule: (actor: Parameters<typeof holds>[0]) => holds(actor, admin) || holds(actor, "notifications:print"),
    missing: "notifications:print"
  }
}
const Ended = Schema.Struct({
  status: Schema.Literals(["printed", "failed"]).pipe(about("Result of the printing.")),
  error: Schema.optional(Text).pipe(about("Failure that the printer reported."))
})

const moved = (
  db: PluginDatabase,
  id: string,
  { error = null, status }: {
    readonly status: "printing" | "printed" | "failed"
    readonly error?: string | null | undefined
  }
) => db.use(printJob).move(status, id, { error, leasedUntil: null })

/** Print jobs, and how agents of printers fetch them (contract, plugins §8 and §17.19). */
export const printRoutes = [
  routes.get("/print/next", {
    summary: "Claim the next job of a printer",
    description: "Null without one. The job is the agent's until `leasedUntil`; of several agents one gets it.",
    ...agent,
    query: { printerId: Text },
    success: Schema.NullOr(printJobs.Row)
  }).handle(({ db, query }) =>
    Effect.gen(function*() {
      const now = yield* DateTime.nowAsDate
      const { leaseSeconds } = yield* NotificationOptions
      const id = yield* db.use(takeJob)(query.printerId, now, new Date(now.getTime() + leaseSeconds * 1_000))
      return id === undefined ? null : yield* db.table(printJobs).get(id)
    })
  ),
  routes.post("/print/:id/ack", {
    summary: "Report the outcome of a print job",
    description: "404 without it, 422 when it is not being printed, 409 when `lease` is not its last one.",
    ...agent,
    input: Schema.Struct({
      ...Ended.fields,
      lease: Schema.optional(Schema.Int).pipe(about("Number of the lease that the agent got with the job."))
    }),
    success: printJobs.Row,
    errors: [LeaseLost]
  }).handle(({ db, input: { lease, ...ended }, params: { id } }) =>
    db.transaction(Effect.gen(function*() {
      const job = yield* db.use(printJob).lock("printed", id)
      if (lease !== undefined && lease !== job.lease) return yield* new LeaseLost()
      return yield* moved(db, id, ended)
    }))
  ),
  routes.patch("/print/:id/status", {
    summary: "Change the status of a print job",
    description: "404 without it, 422 from a status that does not lead there.",
    permission: admin,
    input: Schema.Struct({
      ...Ended.fields,
      status: Schema.Literals(["printing", "printed", "failed"]).pipe(about("State to move it to."))
    }),
    success: printJobs.Row
  }).handle(({ db, input, params }) => moved(db, params.id, input)),
  ...resource(routes, "/print", printJobs, {
    noun: "print job",
    list: { summary: "List print jobs" },
    read: admin,
    write: admin,
    filters: ["status", "printerId", "type"],
    without: ["status", "error", "leasedUntil", "lease", "messageId"],
    patch: false,
    remove: false
  })
]
