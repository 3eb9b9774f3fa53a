import './style/tokens.css'
import './style/base.css'
import './style/layout.css'
import './style/controls.css'
import './style/parts.css'
import 'uplot/dist/uPlot.min.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './data/console-client.ts'
import { applyDensity } from './data/display.ts'
import { router } from './routes.tsx'
import { session } from './session/session.ts'
import { applyStoredTheme } from './shell/top-bar.tsx'

applyStoredTheme()
applyDensity()
await session.askSiblings()
const place = document.getElementById('root')
if (place === null) throw new Error('the page has no root')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
