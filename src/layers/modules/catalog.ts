import { Layer } from "effect"
import { AttributesRepo } from "../../domain/catalog/AttributesRepo.ts"
import { BrandRepo } from "../../domain/catalog/brands/BrandRepo.ts"
import { Brands } from "../../domain/catalog/brands/Brands.ts"
import { Catalog, Drafts } from "../../domain/catalog/Catalog.ts"
import { CatalogTransactionRepo } from "../../domain/catalog/CatalogChangeRepo.ts"
import { CatalogReads } from "../../domain/catalog/CatalogReads.ts"
import { Categories } from "../../domain/catalog/categories/Categories.ts"
import { CategoryRepo } from "../../domain/catalog/categories/CategoryRepo.ts"
import { CategoryTreeRepo } from "../../domain/catalog/categories/CategoryTreeRepo.ts"
import { EntityChanges } from "../../domain/catalog/EntityChanges.ts"
import { EntityLinkRepo } from "../../domain/catalog/EntityLinkRepo.ts"
import { EntityRepo } from "../../domain/catalog/EntityRepo.ts"
import { EntityFieldRepo } from "../../domain/catalog/fields/EntityFieldRepo.ts"
import { FieldDefinitionRepo } from "../../domain/catalog/fields/FieldDefinitionRepo.ts"
import { FieldDefinitions } from "../../domain/catalog/fields/FieldDefinitions.ts"
import { migrations } from "../../domain/catalog/migrations.ts"
import { RevisionRepo } from "../../domain/catalog/revisions/RevisionRepo.ts"
import { Revisions } from "../../domain/catalog/revisions/Revisions.ts"
import { ScheduleRepo } from "../../domain/catalog/schedules/ScheduleRepo.ts"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { SellableRepo } from "../../domain/catalog/SellableRepo.ts"
import { Sellables } from "../../domain/catalog/Sellables.ts"
import { VariantRepo } from "../../domain/catalog/variants/VariantRepo.ts"
import { Variants } from "../../domain/catalog/variants/Variants.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { catalogRoutes } from "../../http/catalog/CatalogHttp.ts"
import { publishDue } from "../../workflows/catalog/ScheduledPublishing.ts"
import { events } from "./events.ts"
import { jobs } from "./jobs.ts"
import { tenancy } from "./tenancy.ts"

const repositories = Layer.mergeAll(
  EntityRepo.layer,
  AttributesRepo.layer,
  CategoryRepo.layer,
  CategoryTreeRepo.layer,
  BrandRepo.layer,
  EntityLinkRepo.layer,
  VariantRepo.layer,
  SellableRepo.layer,
  CatalogTransactionRepo.layer,
  EntityFieldRepo.layer,
  FieldDefinitionRepo.layer,
  RevisionRepo.layer,
  ScheduleRepo.layer
)

const services = Layer.mergeAll(
  Catalog.layer,
  CatalogReads.layer,
  Categories.layer,
  Brands.layer,
  Variants.layer,
  Sellables.layer,
  Drafts.layer,
  FieldDefinitions.layer,
  Revisions.layer,
  Tasks.add(publishDue)
).pipe(
  Layer.provideMerge(Schedules.layer),
  Layer.provideMerge(EntityChanges.layer),
  Layer.provideMerge(repositories)
)

export const catalog = defineModule({
  id: "catalog",
  requires: [tenancy, events, jobs],
  permissions: [
    { scope: "catalog:read", description: "See what the store offers." },
    { scope: "catalog:read:unpublished", description: "See drafts, archived and hidden entities too." },
    { scope: "catalog:create", description: "Create entities." },
    { scope: "catalog:update", description: "Change and publish entities, categories, brands, options, variants." },
    { scope: "catalog:delete", description: "Delete entities." },
    { scope: "catalog:approve", description: "Approve words of entities, where they wait for that." }
  ],
  migrations,
  services,
  routes: catalogRoutes
})
