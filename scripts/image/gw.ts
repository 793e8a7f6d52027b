#!/usr/bin/env node
/** The program `gw` of the image. */
import { programScript } from './program-script.ts';

programScript('gw', import.meta.dirname, import.meta.url).run();
