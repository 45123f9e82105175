import type { GetObjectCommandOutput, S3ClientConfig } from "@aws-sdk/client-s3"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { createReadStream } from "node:fs"
import { Readable } from "node:stream"
import {
  type ByteRange,
  FileMissing,
  MediaStorage,
  type SignedAnswer,
  StorageFailed,
  type TemporaryFile,
  TemporaryFiles
} from "../../domain/media/MediaFiles.ts"
import type { S3Settings } from "../config/MediaConfig.ts"

const connectMs = 3_000

/** The library must not write past the service's log; callers report failures. */
const silent = { trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const maxDownload = 5 * 1_073_741_824

const clientOptions = (settings: S3Settings): S3ClientConfig => ({
  region: settings.region,
  forcePathStyle: settings.forcePathStyle,
  // Uploads carry the hash computed on arrival.
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
  // A stream can be sent once: retries are done here.
  maxAttempts: 1,
  requestHandler: { connectionTimeout: connectMs, socketTimeout: settings.timeoutMs },
  logger: silent,
  ...settings.endpoint === undefined ? {} : { endpoint: settings.endpoint },
  ...settings.credentials === undefined ? {} : {
    credentials: {
      accessKeyId: settings.credentials.accessKeyId,
      secretAccessKey: Redacted.value(settings.credentials.secretAccessKey)
    }
  }
})

const attempt = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StorageFailed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StorageFailed({ cause }) })

const connect = async (settings: S3Settings) => {
  const library = await import("@aws-sdk/client-s3")
  return { ...library, client: new library.S3Client(clientOptions(settings)) }
}

const isMissing = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "name" in cause &&
  (cause.name === "NoSuchKey" || cause.name === "NotFound")

const isTransient = ({ cause }: StorageFailed): boolean => {
  if (typeof cause !== "object" || cause === null || !("$metadata" in cause)) return true
  const { $metadata: recorded } = cause
  const status = typeof recorded === "object" && recorded !== null && "httpStatusCode" in recorded
    ? recorded.httpStatusCode
    : undefined
  return typeof status !== "number" || status >= 500 || status === 429
}

const bodyOf = (key: string, { Body: body }: GetObjectCommandOutput) =>
  body instanceof Readable
    ? Effect.succeed(
      NodeStream.fromReadable<Uint8Array, StorageFailed>({
        evaluate: () => body,
        onError: (cause) => new StorageFailed({ cause })
      })
    )
    : Effect.fail(new StorageFailed({ cause: `no body came for ${key}` }))

type Connected = Awaited<ReturnType<typeof connect>>

/** Media in an S3 bucket; clients fetch signed addresses from it. */
export const s3Storage = (settings: S3Settings): Layer.Layer<MediaStorage, never, TemporaryFiles> =>
  Layer.effect(
    MediaStorage,
    Effect.gen(function*() {
      const temporary = yield* TemporaryFiles
      const connected = yield* Effect.cached(attempt(() => connect(settings)))
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.map(connected, ({ client }) => client.destroy())))

      const request = <A>(run: (s3: Connected, abortSignal: AbortSignal) => Promise<A>) =>
        Effect.flatMap(connected, (s3) =>
          Effect.retry(attempt((signal) => run(s3, signal)), {
            times: 2,
            while: isTransient,
            schedule: Schedule.exponential("200 millis")
          }))
      const object = (key: string) => ({ Bucket: settings.bucket, Key: key })

      const put = Effect.fn("MediaStorage.put")((key: string, file: TemporaryFile, contentType: string) =>
        Effect.asVoid(request(({ client, PutObjectCommand }, abortSignal) =>
          client.send(
            new PutObjectCommand({
              ...object(key),
              Body: createReadStream(file.path),
              ContentLength: file.size,
              ContentType: contentType,
              ChecksumSHA256: Buffer.from(file.digest, "hex").toString("base64")
            }),
            { abortSignal }
          )
        ))
      )

      const open = Effect.fn("MediaStorage.open")((key: string, range?: ByteRange) =>
        request(({ client, GetObjectCommand }, abortSignal) => {
          const ranged = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
          return client.send(new GetObjectCommand({ ...object(key), ...ranged }), { abortSignal })
        }).pipe(
          Effect.mapError((failure) => isMissing(failure.cause) ? new FileMissing({ key }) : failure),
          Effect.flatMap((found) => bodyOf(key, found))
        )
      )

      const local = Effect.fn("MediaStorage.local")(function*(key: string) {
        return (yield* temporary.receive(yield* open(key), maxDownload)).path
      }, Effect.catchTag("FileTooLarge", (cause) => Effect.fail(new StorageFailed({ cause }))))

      const remove = Effect.fn("MediaStorage.remove")((key: string) =>
        Effect.asVoid(request(({ client, DeleteObjectCommand }, abortSignal) =>
          client.send(new DeleteObjectCommand(object(key)), { abortSignal })
        ))
      )

      const signedUrl = Effect.fn("MediaStorage.signedUrl")((key: string, answer: SignedAnswer) =>
        Effect.flatMap(connected, ({ client, GetObjectCommand }) =>
          attempt(async () => {
            const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner")
            const command = new GetObjectCommand({
              ...object(key),
              ResponseContentType: answer.contentType,
              ResponseContentDisposition: answer.disposition
            })
            return getSignedUrl(client, command, { expiresIn: answer.seconds })
          }))
      )

      return { isConfigured: true, put, open, local, remove, ...settings.presigned ? { signedUrl } : {} }
    })
  )
