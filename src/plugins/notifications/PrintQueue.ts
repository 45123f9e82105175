import { Context, Effect, Layer } from "effect"
import { type NewRowOf, PluginContext } from "stoa/plugin"
import { printJobs } from "./Print.ts"

/** What a printer gets: `content` is what its agent prints, laid out as `format` says. */
export interface NewPrintJob extends Pick<NewRowOf<typeof printJobs>, "type" | "printerId" | "content" | "format"> {
  /** The id of what is printed, such as a ticket of a kitchen: a second job of it changes the first one. */
  readonly of?: string
}

/** The queue of the printers, for other plugins: tickets, receipts, labels. */
export class PrintQueue extends Context.Service<PrintQueue>()("stoa/plugins/notifications/PrintQueue", {
  make: Effect.map(PluginContext, ({ db }) => ({
    /** Queues a job; exactly if the caller's transaction commits. 422 for content that is not right. */
    print: Effect.fn("PrintQueue.print")(function*({ of, ...job }: NewPrintJob) {
      if (of === undefined) return yield* db.table(printJobs).insert(job)
      return (yield* db.table(printJobs).upsert({ ...job, messageId: of }, ["messageId"])).row
    })
  }))
}) {
  static readonly layer = Layer.effect(PrintQueue, PrintQueue.make)
}
