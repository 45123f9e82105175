import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Gives the oldest job of a printer that is queued, or whose lease has run out, to one agent. */
export const takeJob = statement(
  "Print.take",
  function*(sql, organizationId, printerId: string, now: Date, until: Date) {
    const [taken] = yield* ids(sql`update notification_print_jobs set status = 'printing', leased_until = ${until},
        lease = lease + 1, updated_at = ${now}
      where organization_id = ${organizationId} and id = (select id from notification_print_jobs
        where organization_id = ${organizationId} and printer_id = ${printerId}
          and (status = 'queued' or status = 'printing' and leased_until <= ${now})
        order by created_at, id limit 1 for update skip locked) returning id`)
    return taken?.id
  }
)

/** What a message puts into the queue of its printer. */
export interface PrintedMessage {
  readonly id: string
  readonly printerId: string
  readonly content: object
}

/** Queues messages for their printers in one statement, each once. */
export const printMessages = statement(
  "Print.messages",
  function*(sql, organizationId, printed: ReadonlyArray<PrintedMessage>) {
    yield* sql`insert into notification_print_jobs (organization_id, type, printer_id, content, message_id)
      select ${organizationId}, 'receipt', i."printerId", i.content, i.id
      from jsonb_to_recordset(${JSON.stringify(printed)}::jsonb) i (id uuid, "printerId" text, content jsonb)
      on conflict do nothing`
  }
)

/** Deletes the content of jobs that are done and older. */
export const forgetJobs = statement("Print.forget", function*(sql, organizationId, before: Date, limit: number) {
  const rows = yield* ids(sql`update notification_print_jobs set content = '{}'
      where organization_id = ${organizationId} and id = any(array(select id from notification_print_jobs
        where organization_id = ${organizationId} and created_at < ${before} and content <> '{}'
          and status in ('printed', 'failed') limit ${limit} for update skip locked)) returning id`)
  return rows.length
})
