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

/** What came back; the snippet is the beginning of the answer's body, 1 kB at most. */
export interface PostAnswer {
  readonly statusCode: number
  readonly snippet: string
}

/** The way out to the receivers of webhooks, past the guard that keeps it from internal addresses. */
export class WebhookTransport extends Context.Service<WebhookTransport, {
  /**
   * Looks whether a URL may be registered. A host that cannot be resolved at the moment is let through: it is looked at
   * again before every delivery.
   */
  readonly admit: (url: string) => Effect.Effect<void, TargetRefused>
  /** Resolves once, checks every address, and posts to one that was checked; follows no redirect. Without time limit. */
  readonly post: (post: Post) => Effect.Effect<PostAnswer, TargetRefused | NoAnswer>
}>()("stoa/domain/webhooks/WebhookTransport") {}
