import { Duration, Effect, Stream } from "effect"
import { Draining } from "../server/RequestId.ts"

/** Keeps a stream without events open. */
const heartbeat = ": heartbeat\n\n"

/** Proxies close connections that are silent for half a minute or more. */
const heartbeatEvery = "15 seconds"

/** Maximum life of a stream. The client then reconnects by itself, and its access is checked again. */
const maxLife = Duration.minutes(15)

/** Tells the client to reconnect after so many milliseconds. */
const retry = "retry: 1000\n\n"

/** How often a stream looks whether its process is about to end, which waits for it a few seconds at most. */
const lookEvery = "1 second"

const hasToEnd = Effect.gen(function*() {
  const farewell = yield* Draining
  yield* Effect.repeat(Effect.sleep(lookEvery), { until: () => farewell.begun })
})

/** A server-sent event; `data` becomes JSON, which contains no line breaks. */
export const messageOf = ({ data, event, id }: {
  readonly id?: string | number
  readonly event: string
  readonly data: unknown
}): string => `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Headers and body of an answer that goes on with messages until these or the process end, or for a quarter of an hour. */
export const serverSentEvents = <E, R>(messages: Stream.Stream<string, E, R>) => {
  const beats = Stream.map(Stream.drop(Stream.tick(heartbeatEvery), 1), () => heartbeat)
  const text = Stream.concat(Stream.make(retry), Stream.merge(messages, beats, { haltStrategy: "left" }))
  return {
    // The last one keeps nginx from buffering the stream.
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    body: Stream.encodeText(Stream.interruptWhen(text, Effect.raceFirst(Effect.sleep(maxLife), hasToEnd)))
  }
}
