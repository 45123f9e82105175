import { Reviews } from "./Reviews.ts"
import { reviewRoutes } from "./ReviewsHttp.ts"
import { reviews } from "./ReviewTables.ts"

/** What customers say of vendors. */
export const reviewModule = { tables: [reviews], layer: Reviews.layer, routes: reviewRoutes }
