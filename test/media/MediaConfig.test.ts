import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"

const starting = (deployment: DeploymentConfig, variables: Readonly<Record<string, string>> = {}) =>
  readSettings(deployment).pipe(
    Effect.map(({ media }) => media),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables))
  )

const bucket = { type: "s3", bucket: "pictures" } as const

describe("what a deployment says of media", () => {
  it.effect("an invalid setting is refused at the start, with its name", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [RegExp, DeploymentConfig, Readonly<Record<string, string>>?]> = [
        [/media\.maxUploadSize/, { media: { maxUploadSize: 0 } }],
        [/STOA_MEDIA_MAX_UPLOAD_SIZE/, {}, { STOA_MEDIA_MAX_UPLOAD_SIZE: "ten" }],
        [/media\.maxPixels/, { media: { maxPixels: 1.5 } }],
        [/media\.signedUrlSeconds/, { media: { signedUrlSeconds: 604_801 } }],
        [/media\.imageWidths/, { media: { imageWidths: [100, 0] } }],
        [/media\.allowedMimeTypes="text\/html"/, { media: { allowedMimeTypes: ["image/png", "text/html"] } }],
        [/media\.allowSvg/, { media: { allowedMimeTypes: ["image/svg+xml"] } }],
        [/STOA_MEDIA_STORAGE/, {}, { STOA_MEDIA_STORAGE: "ftp" }],
        [/STOA_MEDIA_PUBLIC_URL/, { media: { publicUrl: "cdn.example" } }],
        [/STOA_S3_BUCKET/, {}, { STOA_MEDIA_STORAGE: "s3" }],
        [/STOA_S3_BUCKET/, { storage: { type: "s3", bucket: "../other" } }],
        [/STOA_S3_ENDPOINT/, { storage: { ...bucket, endpoint: "minio:9000" } }],
        [/STOA_S3_SECRET_ACCESS_KEY/, { storage: { ...bucket, accessKeyId: "alone" } }],
        [/storage\.timeoutMs/, { storage: { ...bucket, timeoutMs: 0 } }]
      ]
      for (const [message, deployment, variables] of wrong) {
        assert.match((yield* Effect.flip(starting(deployment, variables))).message, message)
      }
    }))

  it.effect("files are stored on the disk of a single process, and nowhere by default with several", () =>
    Effect.gen(function*() {
      const kindOf = (deployment: DeploymentConfig, variables = {}) =>
        Effect.map(starting(deployment, variables), ({ storage }) => storage.kind)
      assert.strictEqual(yield* kindOf({}), "local")
      assert.strictEqual(yield* kindOf({}, { STOA_ROLE: "api" }), "none")
      assert.strictEqual(yield* kindOf({}, { STOA_ROLE: "runner", STOA_MEDIA_STORAGE: "local" }), "local")
      assert.strictEqual(yield* kindOf({ storage: { type: "local" } }, { STOA_ROLE: "api" }), "local")
      assert.strictEqual(yield* kindOf({ storage: { type: "local" } }, { STOA_MEDIA_STORAGE: "none" }), "none")
    }))

  it.effect("the environment takes precedence, and addresses begin with the base of the files", () =>
    Effect.gen(function*() {
      const { settings, storage } = yield* starting({ storage: bucket, media: { maxUploadSize: 5, allowSvg: true } }, {
        STOA_MEDIA_MAX_UPLOAD_SIZE: "7",
        STOA_S3_BUCKET: "others",
        STOA_S3_REGION: "eu-central-1",
        STOA_S3_ENDPOINT: "https://objects.example",
        STOA_S3_ACCESS_KEY_ID: "id",
        STOA_S3_SECRET_ACCESS_KEY: "secret"
      })
      assert.strictEqual(settings.maxUploadSize, 7)
      assert.include(settings.contentTypes, "image/svg+xml")
      if (storage.kind !== "s3") return assert.fail(storage.kind)
      const { credentials, ...rest } = storage.s3
      assert.deepStrictEqual(rest, {
        bucket: "others",
        region: "eu-central-1",
        endpoint: "https://objects.example",
        forcePathStyle: true,
        presigned: true,
        timeoutMs: 10_000
      })
      assert.strictEqual(Redacted.value(credentials?.secretAccessKey ?? Redacted.make("")), "secret")
      assert.notInclude(JSON.stringify(storage), "secret\"")

      const addressOf = (deployment: DeploymentConfig, variables = {}) =>
        Effect.map(starting(deployment, variables), ({ address }) => address)
      assert.strictEqual(yield* addressOf({}), "/api/media/files/")
      assert.strictEqual(
        yield* addressOf({}, { STOA_PUBLIC_URL: "https://api.example" }),
        "https://api.example/api/media/files/"
      )
      assert.strictEqual(
        yield* addressOf({ media: { publicUrl: "https://cdn.example//" } }, { STOA_PUBLIC_URL: "https://api.example" }),
        "https://cdn.example/"
      )
    }))
})
