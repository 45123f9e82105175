import { type Effect, Metric } from "effect"

const answers = Metric.counter("stoa_search_answers_total", {
  description:
    "Answers of the built-in search, by where they come from: the index, memory after a look that it holds, or memory with the changes since",
  incremental: true
})

const by = {
  index: Metric.withAttributes(answers, { from: "index" }),
  changes: Metric.withAttributes(answers, { from: "changes" }),
  memory: Metric.withAttributes(answers, { from: "memory" })
}

/** Counts an answer of this process. */
export const countAnswer = (from: keyof typeof by): Effect.Effect<void> => Metric.update(by[from], 1)
