import { Layer } from "effect"
import { Tasks } from "../../domain/jobs/Task.ts"
import { ForeignPictureRepo } from "../../domain/media/ForeignPictureRepo.ts"
import { ForeignPictures } from "../../domain/media/ForeignPictures.ts"
import { Media } from "../../domain/media/Media.ts"
import { MediaFileRepo } from "../../domain/media/MediaFileRepo.ts"
import { MediaFiles } from "../../domain/media/MediaFiles.ts"
import { MediaLinkRepo } from "../../domain/media/MediaLinkRepo.ts"
import { MediaRemovalRepo } from "../../domain/media/MediaRemovalRepo.ts"
import { MediaRemovals } from "../../domain/media/MediaRemovals.ts"
import { MediaRepo } from "../../domain/media/MediaRepo.ts"
import { migrations } from "../../domain/media/migrations.ts"
import { PictureFetches } from "../../domain/media/PictureFetches.ts"
import { Renditions } from "../../domain/media/Renditions.ts"
import { Uploads } from "../../domain/media/Uploads.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { filesHttp, mediaHttp, uploadsHttp } from "../../http/media/MediaHttp.ts"
import { multipartUploads } from "../../http/media/MultipartUploads.ts"
import { fetchPicture } from "../../workflows/media/FetchPicture.ts"

const repositories = Layer.mergeAll(
  MediaRepo.layer,
  MediaLinkRepo.layer,
  MediaFileRepo.layer,
  MediaRemovalRepo.layer,
  ForeignPictureRepo.layer
)

const fetching = Tasks.add(fetchPicture).pipe(Layer.provide(PictureFetches.layer))

/** Files of a store and what shows them (contract §10, docs/media.md). Needs where they lie (`MediaAdapters.ts`). */
export const media = defineModule({
  id: "media",
  version: "1.0.0",
  requires: ["tenancy", "jobs", "catalog"],
  permissions: [
    { scope: "media:read", description: "See all media, and make addresses that work for everybody for some minutes." },
    { scope: "media:write", description: "Upload, change, attach and delete media." }
  ],
  migrations,
  services: Layer.mergeAll(Media.layer, MediaFiles.layer, ForeignPictures.layer, fetching).pipe(
    Layer.provideMerge(Uploads.layer),
    Layer.provideMerge(Layer.merge(Renditions.layer, MediaRemovals.layer)),
    Layer.provideMerge(repositories)
  ),
  routes: Layer.mergeAll(
    mediaHttp,
    filesHttp,
    uploadsHttp.pipe(Layer.provide(multipartUploads))
  )
})
