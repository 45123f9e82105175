import { Effect, Schema } from "effect"
import { currentOrganization, type PluginDatabase, rowsOf } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Gives the oldest job of a printer that is queued, or whose lease has run out, to one agent. */
export const takeJob = Effect.fn("Print.take")(
  function*({ sql }: PluginDatabase["Service"], printerId: string, now: Date, until: Date) {
    const organizationId = yield* currentOrganization
    const [taken] = yield* ids(sql)`update notification_print_jobs set status = 'printing', leased_until = ${until},
        lease = lease + 1, updated_at = ${now}
      where organization_id = ${organizationId} and id = (select id from notification_print_jobs
        where organization_id = ${organizationId} and printer_id = ${printerId}
          and (status = 'queued' or status = 'printing' and leased_until <= ${now})
        order by created_at, id limit 1 for update skip locked) returning id`
    return taken?.id
  },
  Effect.orDie
)

/** What a message puts into the queue of its printer. */
export interface PrintedMessage {
  readonly id: string
  readonly printerId: string
  readonly content: object
}

/** Queues messages for their printers in one statement, each once. */
export const printMessages = Effect.fn("Print.messages")(
  function*({ sql }: PluginDatabase["Service"], printed: ReadonlyArray<PrintedMessage>) {
    yield* sql`insert into notification_print_jobs (organization_id, type, printer_id, content, message_id)
      select ${yield* currentOrganization}, 'receipt', i."printerId", i.content, i.id
      from jsonb_to_recordset(${JSON.stringify(printed)}::jsonb) i (id uuid, "printerId" text, content jsonb)
      on conflict do nothing`
  },
  Effect.orDie
)

/** Deletes the content of jobs that are done and older. */
export const forgetJobs = Effect.fn("Print.forget")(
  function*({ sql }: PluginDatabase["Service"], before: Date, limit: number) {
    const organizationId = yield* currentOrganization
    const rows = yield* ids(sql)`update notification_print_jobs set content = '{}'
      where organization_id = ${organizationId} and id = any(array(select id from notification_print_jobs
        where organization_id = ${organizationId} and created_at < ${before} and content <> '{}'
          and status in ('printed', 'failed') limit ${limit} for update skip locked)) returning id`
    return rows.length
  },
  Effect.orDie
)
