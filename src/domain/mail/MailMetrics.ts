import { Effect, Metric } from "effect"
import type { MailTemplate } from "./Mail.ts"

/** How a try to send a mail ended: `delayed` is tried again, `refused` is not. */
export type MailOutcome = "sent" | "delayed" | "refused" | "skipped"

const mails = Metric.counter("stoa_mails_total", {
  description: "Tries to send a mail, by template and outcome: sent, delayed, refused or skipped",
  incremental: true
})

const durations = Metric.histogram("stoa_mail_duration_seconds", {
  description: "Seconds that handing over a mail took, the wait for a free connection included",
  boundaries: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
})

/** Counts a try; `millis` of one that was handed over or was meant to be. */
export const countMail = Effect.fnUntraced(
  function*(template: MailTemplate, outcome: MailOutcome, millis?: number) {
    yield* Metric.update(Metric.withAttributes(mails, { template, outcome }), 1)
    if (millis !== undefined) yield* Metric.update(durations, millis / 1000)
  }
)
