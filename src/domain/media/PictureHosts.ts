import { Context, Data, type Effect, type Scope, type Stream } from "effect"

/** The picture will not be fetched however often it is asked for; `message` is worded to follow its address. */
export class PictureRefused extends Data.TaggedError("PictureRefused")<{ readonly message: string }> {}

/** It did not come this time. */
export class PictureDelayed extends Data.TaggedError("PictureDelayed")<{ readonly message: string }> {}

/** The way out to the hosts of pictures that files of other shops name, past the guard of webhooks' targets. */
export class PictureHosts extends Context.Service<PictureHosts, {
  /**
   * Asks for a picture, and follows a few redirects, each of which is judged and resolved like the first address. Gives
   * its bytes as they come, for as long as the scope is open. A picture that announces more bytes than `limit` is refused.
   * Without time limit.
   */
  readonly fetch: (
    url: string,
    limit: number
  ) => Effect.Effect<Stream.Stream<Uint8Array, PictureDelayed>, PictureRefused | PictureDelayed, Scope.Scope>
}>()("stoa/domain/media/PictureHosts") {}
