import { Effect, Layer, Stream } from "effect"
import type { IncomingMessage } from "node:http"
import { PictureDelayed, PictureHosts, PictureRefused } from "../../domain/media/ExternalPictures.ts"
import { prepareRequest, responseTo } from "../webhooks/PinnedRequest.ts"
import { type HostResolver, targetGuard, type TargetPolicy } from "../webhooks/TargetGuard.ts"

/** Redirects that are followed: from `http` to `https`, to a name with `www`, to a host of files. */
const maxRedirects = 5

/** Uncompressed: a packed response could unpack to any size. */
const headers = { accept: "image/*", "accept-encoding": "identity", "user-agent": "stoa" }

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Answers of a host that is busy or broken at the moment. */
const isTransient = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

const redirectOf = ({ headers: { location }, statusCode = 0 }: IncomingMessage, from: URL): string | undefined => {
  if (!redirecting.has(statusCode) || location === undefined || !URL.canParse(location, from.href)) return undefined
  return new URL(location, from).href
}

const bytesOf = (response: IncomingMessage, limit: number) => {
  const status = response.statusCode ?? 0
  const message = `is answered with ${status}`
  if (status !== 200) {
    return Effect.fail(isTransient(status) ? new PictureDelayed({ message }) : new PictureRefused({ message }))
  }
  if (Number(response.headers["content-length"] ?? 0) > limit) {
    return Effect.fail(new PictureRefused({ message: `is larger than ${limit} bytes` }))
  }
  return Effect.succeed(
    Stream.fromAsyncIterable<Uint8Array, PictureDelayed>(
      response,
      () => new PictureDelayed({ message: "broke off in the middle" })
    )
  )
}

/** `PictureHosts` behind the guard of webhook targets, which checks every redirect like the first address. */
export const guardedPictures = (policy: TargetPolicy): Layer.Layer<PictureHosts, never, HostResolver> =>
  Layer.effect(
    PictureHosts,
    Effect.map(targetGuard(policy), (resolveTarget) => {
      const asked = Effect.fnUntraced(
        function*(url: string) {
          const target = yield* resolveTarget(url)
          const request = yield* Effect.acquireRelease(
            Effect.sync(() => prepareRequest(target, { method: "GET", headers })),
            (open) => Effect.sync(() => open.destroy())
          )
          return { response: yield* responseTo(request), url: target.url }
        },
        Effect.catchTags({
          TargetRefused: ({ message }) => Effect.fail(new PictureRefused({ message })),
          Unresolved: ({ message }) => Effect.fail(new PictureDelayed({ message })),
          NoAnswer: ({ message }) => Effect.fail(new PictureDelayed({ message }))
        })
      )

      const fetch = Effect.fn("PictureHosts.fetch")(function*(url: string, limit: number) {
        let next = url
        for (let hop = 0; hop <= maxRedirects; hop++) {
          const answer = yield* asked(next)
          const onward = redirectOf(answer.response, answer.url)
          if (onward === undefined) return yield* bytesOf(answer.response, limit)
          // The body of a redirect stays unread; its connection is closed with the scope.
          next = onward
        }
        return yield* new PictureRefused({ message: `leads on more than ${maxRedirects} times` })
      })

      return PictureHosts.of({ fetch })
    })
  )
