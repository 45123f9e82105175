import type { GetObjectCommandOutput, S3Client, S3ClientConfig } from "@aws-sdk/client-s3"
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
} from "../../domain/media/MediaStorage.ts"
import type { S3Settings } from "../config/MediaConfig.ts"

/** Longest wait for a connection, in milliseconds. */
const connectMs = 3_000

/** What the library would write past the log of the service; its failures are told where they are answered. */
const silent = { trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Largest file that is fetched to make smaller versions of; uploads have their own, smaller limit. */
const mostFetched = 5 * 1_073_741_824

const clientOptions = (settings: S3Settings): S3ClientConfig => ({
  region: settings.region,
  forcePathStyle: settings.forcePathStyle,
  // What is sent bears the hash that was taken when it arrived, so that no other sum has to be reckoned.
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
  // A stream can be sent once: repeating is done here, with a new one.
  maxAttempts: 1,
  // Large files take their time; a bucket that says nothing does not.
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

/** The library is read with the first file: it is large, and most processes move none. */
const connected = (settings: S3Settings) =>
  Effect.tryPromise({
    try: async () => {
      const library = await import("@aws-sdk/client-s3")
      return { ...library, client: new library.S3Client(clientOptions(settings)) }
    },
    catch: (cause) => new StorageFailed({ cause })
  })

const isMissing = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "name" in cause &&
  (cause.name === "NoSuchKey" || cause.name === "NotFound")

/** What is worth another try: no answer, or one that says the server could not. */
const isPassing = ({ cause }: StorageFailed): boolean => {
  if (typeof cause !== "object" || cause === null || !("$metadata" in cause)) return true
  const { $metadata: recorded } = cause
  const status = typeof recorded === "object" && recorded !== null && "httpStatusCode" in recorded
    ? recorded.httpStatusCode
    : undefined
  return typeof status !== "number" || status >= 500 || status === 429
}

const persistently = <A>(attempt: Effect.Effect<A, StorageFailed>): Effect.Effect<A, StorageFailed> =>
  Effect.retry(attempt, { times: 2, while: isPassing, schedule: Schedule.exponential("200 millis") })

const asked = <A>(ask: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StorageFailed> =>
  Effect.tryPromise({ try: ask, catch: (cause) => new StorageFailed({ cause }) })

const bodyOf = (key: string, { Body: body }: GetObjectCommandOutput) =>
  body instanceof Readable
    ? Effect.succeed(
      NodeStream.fromReadable<Uint8Array, StorageFailed>({
        evaluate: () => body,
        onError: (cause) => new StorageFailed({ cause })
      })
    )
    : Effect.fail(new StorageFailed({ cause: `no body came for ${key}` }))

type Connected = Effect.Success<ReturnType<typeof connected>>

const putting = ({ client, PutObjectCommand }: Connected, { bucket }: S3Settings) =>
  Effect.fn("MediaStorage.put")((key: string, file: TemporaryFile, contentType: string) =>
    persistently(asked((abortSignal) =>
      client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: key,
          Body: createReadStream(file.path),
          ContentLength: file.size,
          ContentType: contentType,
          // The bucket refuses what is not what arrived here.
          ChecksumSHA256: Buffer.from(file.digest, "hex").toString("base64")
        }),
        { abortSignal }
      )
    )).pipe(Effect.asVoid)
  )

const opening = ({ GetObjectCommand, client }: Connected, { bucket }: S3Settings) =>
  Effect.fn("MediaStorage.open")((key: string, range?: ByteRange) =>
    persistently(asked((abortSignal) => {
      const ranged = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }
      return client.send(new GetObjectCommand({ Bucket: bucket, Key: key, ...ranged }), { abortSignal })
    })).pipe(
      Effect.mapError((failure) => isMissing(failure.cause) ? new FileMissing({ key }) : failure),
      Effect.flatMap((found) => bodyOf(key, found))
    )
  )

const removing = ({ client, DeleteObjectCommand }: Connected, { bucket }: S3Settings) =>
  Effect.fn("MediaStorage.remove")((key: string) =>
    persistently(
      asked((abortSignal) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal }))
    ).pipe(Effect.asVoid)
  )

const signing = (client: S3Client, { GetObjectCommand }: Connected, { bucket }: S3Settings) =>
  Effect.fn("MediaStorage.signedUrl")((key: string, { contentType, disposition, seconds }: SignedAnswer) =>
    asked(async () => {
      const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner")
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        ResponseContentType: contentType,
        ResponseContentDisposition: disposition
      })
      return getSignedUrl(client, command, { expiresIn: seconds })
    })
  )

/** Media as objects of a bucket that speaks the protocol of S3. What it signs, its clients fetch from the bucket itself. */
export const s3Storage = (settings: S3Settings): Layer.Layer<MediaStorage, never, TemporaryFiles> =>
  Layer.effect(
    MediaStorage,
    Effect.gen(function*() {
      const temporary = yield* TemporaryFiles
      const connect = yield* Effect.cached(connected(settings))
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.map(connect, ({ client }) => client.destroy())))
      const open = (key: string, range?: ByteRange) =>
        Effect.flatMap(connect, (s3) => opening(s3, settings)(key, range))
      const signedUrl = (key: string, answer: SignedAnswer) =>
        Effect.flatMap(connect, (s3) => signing(s3.client, s3, settings)(key, answer))
      const local = Effect.fn("MediaStorage.local")(function*(key: string) {
        const received = yield* Effect.flatMap(open(key), (content) => temporary.receive(content, mostFetched))
        return received.path
      }, Effect.catchTag("FileTooLarge", (cause) => Effect.fail(new StorageFailed({ cause }))))
      return {
        isConfigured: true,
        put: (key, file, contentType) => Effect.flatMap(connect, (s3) => putting(s3, settings)(key, file, contentType)),
        open,
        local,
        remove: (key) => Effect.flatMap(connect, (s3) => removing(s3, settings)(key)),
        ...settings.presigned ? { signedUrl } : {}
      }
    })
  )
