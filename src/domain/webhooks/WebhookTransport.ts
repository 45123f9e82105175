import { Context, Data, type Effect } from "effect"

/** The target may not be reached; `message` is worded to follow the name of a field. */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{ readonly message: string }> {}

/** Nothing was answered: no connection, a broken one, or an answer that is none. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

/** What is sent. */
export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The response; the snippet is the beginning of its body, at most 1 kB. */
export interface PostAnswer {
  readonly statusCode: number
  readonly snippet: string
}

/** HTTP transport to webhook receivers, with a guard that blocks internal addresses. */
export class WebhookTransport extends Context.Service<WebhookTransport, {
  /**
   * Checks whether a URL can be registered. A host that cannot be resolved now is accepted, because every delivery
   * checks it again.
   */
  readonly admit: (url: string) => Effect.Effect<void, TargetRefused>
  /** Resolves once, checks every address, and posts to one that was checked; follows no redirect. Without time limit. */
  readonly post: (post: Post) => Effect.Effect<PostAnswer, TargetRefused | NoAnswer>
}>()("stoa/domain/webhooks/WebhookTransport") {}
