import { Layer } from "effect"
import { ExternalPictures, fetchPicture } from "../../domain/media/ExternalPictures.ts"
import { Media, Uploads } from "../../domain/media/Media.ts"
import { ExternalPictureRepo, MediaFileRepo } from "../../domain/media/MediaFileRepo.ts"
import { MediaFiles, Renditions } from "../../domain/media/MediaFiles.ts"
import { MediaRepo } from "../../domain/media/MediaRepo.ts"
import { migrations } from "../../domain/media/migrations.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { filesHttp, mediaHttp, multipartUploads, uploadsHttp } from "../../http/media/MediaHttp.ts"
import { catalog } from "./catalog.ts"
import { jobs } from "./jobs.ts"
import { tenancy } from "./tenancy.ts"

/** Files and their attachments (contract §10, docs/media.md). Needs a storage (`MediaAdapters.ts`). */
export const media = defineModule({
  id: "media",
  requires: [tenancy, jobs, catalog],
  permissions: [
    { scope: "media:read", description: "See all media, and make addresses that work for everybody for some minutes." },
    { scope: "media:write", description: "Upload, change, attach and delete media." },
    { scope: "media:write:own", description: "Upload pictures for what one writes, such as a review." }
  ],
  migrations,
  services: Layer.mergeAll(Media.layer, MediaFiles.layer, Tasks.add(fetchPicture)).pipe(
    Layer.provideMerge(ExternalPictures.layer),
    Layer.provideMerge(Layer.merge(Uploads.layer, Renditions.layer)),
    Layer.provideMerge(Layer.mergeAll(MediaRepo.layer, MediaFileRepo.layer, ExternalPictureRepo.layer))
  ),
  routes: Layer.mergeAll(
    mediaHttp,
    filesHttp,
    uploadsHttp.pipe(Layer.provide(multipartUploads))
  )
})
