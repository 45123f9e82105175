import { Layer, Redacted } from "effect"
import { hkdfSync } from "node:crypto"
import { join, resolve } from "node:path"
import { type MediaKey, MediaKeys } from "../../domain/media/MediaFiles.ts"
import { MediaAddress, MediaSettings } from "../../domain/media/MediaSettings.ts"
import type { SecretsKey } from "../../domain/webhooks/SecretEncryption.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { hostResolver, targetPolicy } from "../webhooks/HttpSender.ts"
import { guardedPictures } from "./GuardedPictures.ts"
import { localStorage, noStorage } from "./LocalStorage.ts"
import { localTemporaryFiles } from "./LocalTemporaryFiles.ts"
import { s3Storage } from "./S3Storage.ts"
import { sharpImages } from "./SharpImages.ts"

/** Derived from the deployment's secrets keys: a leak of one kind does not reveal the other. */
export const mediaKeys = (keyring: ReadonlyArray<SecretsKey>): ReadonlyArray<MediaKey> =>
  keyring.map(({ bytes }) =>
    Redacted.make(new Uint8Array(hkdfSync("sha256", Redacted.value(bytes), "", "stoa media links", 32)), {
      label: "media key"
    })
  )

const storageOf = ({ media: { storage } }: AppSettings, folder: string) => {
  if (storage.kind === "s3") return s3Storage(storage.s3)
  return storage.kind === "local" ? localStorage(join(folder, "files")) : noStorage
}

/** Storage, images and limits of media, as the deployment configured them. */
export const mediaAdapters = (settings: AppSettings) => {
  const folder = join(resolve(settings.dataDir), "media")
  const arriving = join(folder, "incoming")
  return Layer.mergeAll(
    MediaSettings.layerOf(settings.media.settings),
    Layer.succeed(MediaAddress, settings.media.address),
    MediaKeys.layerOf(mediaKeys(settings.webhooks.keyring ?? [])),
    sharpImages(arriving, settings.media.settings),
    Layer.provide(guardedPictures(targetPolicy(settings)), hostResolver(settings))
  ).pipe(
    Layer.provideMerge(storageOf(settings, folder)),
    Layer.provideMerge(localTemporaryFiles(arriving))
  )
}
