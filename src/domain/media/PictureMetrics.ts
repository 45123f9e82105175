import { Metric } from "effect"

/** How a try to fetch a picture ended. */
export type PictureOutcome = "attached" | "refused" | "delayed"

const fetches = Metric.counter("stoa_picture_fetches_total", {
  description: "Tries to fetch pictures that files of other shops name: attached, refused for good, or delayed",
  incremental: true
})

/** Counts a try. */
export const countFetch = (outcome: PictureOutcome) => Metric.update(Metric.withAttributes(fetches, { outcome }), 1)
