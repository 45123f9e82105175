import { Context, Data, type Effect, type Scope, type Stream } from "effect"

/** The picture will never be fetched, so there is no retry; `message` is worded to follow its address. */
export class PictureRefused extends Data.TaggedError("PictureRefused")<{ readonly message: string }> {}

/** The picture could not be fetched this time; retry. */
export class PictureDelayed extends Data.TaggedError("PictureDelayed")<{ readonly message: string }> {}

/** The way out to the hosts of pictures that files of other shops name, past the guard of webhooks' targets. */
export class PictureHosts extends Context.Service<PictureHosts, {
  /**
   * Requests a picture and follows a few redirects, each checked and resolved like the first address. Streams its bytes
   * while the scope is open; refuses a picture that announces more bytes than `limit`. Has no time limit.
   */
  readonly fetch: (
    url: string,
    limit: number
  ) => Effect.Effect<Stream.Stream<Uint8Array, PictureDelayed>, PictureRefused | PictureDelayed, Scope.Scope>
}>()("stoa/domain/media/PictureHosts") {}
