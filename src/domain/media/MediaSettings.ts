import { Context, Layer } from "effect"
import { defaultContentTypes } from "./MediaTypes.ts"

/** What a deployment decides about media, with everything decided. */
export interface MediaSettingsValues {
  /** Largest file, in bytes. */
  readonly maxUploadSize: number
  readonly contentTypes: ReadonlyArray<string>
  /** Widths in pixels of smaller versions of images. */
  readonly imageWidths: ReadonlyArray<number>
  /** Maximum pixels of an image; all frames of an animation together can have four times as many. */
  readonly maxPixels: number
  /** How long a signed address works. */
  readonly signedUrlSeconds: number
}

/** Every option without a word of the deployment's (contract §10). */
export const defaultMedia: MediaSettingsValues = {
  maxUploadSize: 10 * 1_048_576,
  contentTypes: defaultContentTypes,
  imageWidths: [160, 320, 640, 1_280],
  maxPixels: 50_000_000,
  signedUrlSeconds: 900
}

/** The settings of media of this deployment. */
export class MediaSettings
  extends Context.Service<MediaSettings, MediaSettingsValues>()("stoa/domain/media/MediaSettings")
{
  static readonly layerOf = (values: MediaSettingsValues): Layer.Layer<MediaSettings> =>
    Layer.succeed(MediaSettings, values)
}

/** The path this service serves files under, followed by the storage key. */
export const filesPath = "/api/media/files/"

/**
 * Base of media addresses: the service's route, or the deployment's public base address. A reference, because
 * expansions of the catalog show addresses even in a process built without media.
 */
export const MediaAddress = Context.Reference<string>("stoa/domain/media/MediaAddress", {
  defaultValue: () => filesPath
})
